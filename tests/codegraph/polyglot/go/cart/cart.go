package cart

import "example.com/shop/money"

type Clock interface {
	Now() int
}

type Item struct {
	Name  string
	Price money.Amount
}

func (i Item) Cost() money.Amount { return i.Price.Twice() }

type Cart struct {
	items []Item
	clock Clock
}

func New(clock Clock) *Cart {
	return &Cart{clock: clock}
}

func (c *Cart) Add(item Item) *Cart {
	c.items = append(c.items, item)
	return c
}

func (c *Cart) Total() money.Amount {
	sum := money.Zero()
	for _, item := range c.items {
		sum = sum.Plus(item.Cost())
	}
	return sum
}

func (c *Cart) Age() int { return age(c.clock) }
