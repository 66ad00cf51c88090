package money

type Amount int

func Zero() Amount { return Amount(0) }

func (a Amount) Plus(b Amount) Amount { return a + b }

func (a Amount) Twice() Amount { return a.Plus(a) }

func Format(a Amount) string { return "" }
