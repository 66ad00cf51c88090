package store

import (
	"example.com/shop/cart"
	m "example.com/shop/money"
)

type Logger struct{ lines []string }

func (l *Logger) Log(line string) { l.lines = append(l.lines, line) }

type Store struct {
	*Logger
	carts map[string]*cart.Cart
}

func Open() (*Store, error) {
	return &Store{Logger: &Logger{}, carts: map[string]*cart.Cart{}}, nil
}

func (s *Store) Save(name string, c *cart.Cart) {
	s.carts[name] = c
	s.Log(name)
}

func (s *Store) Sum() m.Amount {
	sum := m.Zero()
	for _, c := range s.carts {
		sum = sum.Plus(c.Total())
	}
	return sum
}

func (s *Store) Get(name string) *cart.Cart { return s.carts[name] }
