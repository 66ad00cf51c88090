package clock

type System struct{}

func (System) Now() int { return 1 }

type Fake struct{ Time int }

func (f *Fake) Now() int { return f.Time }

func (f *Fake) Advance() { f.Time++ }
