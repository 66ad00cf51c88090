package web

import (
	"example.com/shop/cart"
	"example.com/shop/clock"
	. "example.com/shop/money"
	"example.com/shop/store"
)

type Saver interface {
	Save(name string, c *cart.Cart)
}

type Page struct {
	saver Saver
	items []cart.Item
}

func (p *Page) Open() {
	c := cart.New(clock.System{})
	for _, item := range p.items {
		c.Add(item)
	}
	p.saver.Save("a", c)
}

func Show(c *cart.Cart) string { return Format(c.Total()) }

func Run() {
	s, err := store.Open()
	if err != nil {
		return
	}
	page := Page{saver: s}
	page.Open()
	s.Log("done")
	Show(s.Get("a"))
}

var handlers = map[string]func(*cart.Cart) string{"show": Show}
