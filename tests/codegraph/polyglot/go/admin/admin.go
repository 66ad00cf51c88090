package admin

type Cart struct{}

func (c *Cart) Total() int { return Format(1) }

func Format(n int) int { return n }

func Audit(c *Cart) int { return c.Total() }
