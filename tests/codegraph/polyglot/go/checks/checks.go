package checks

import (
	"example.com/shop/cart"
	"example.com/shop/clock"
)

func CheckAge() int {
	fake := &clock.Fake{Time: 2}
	fake.Advance()
	c := cart.New(fake)
	return c.Age()
}
