package truck

import "github.com/acme/fleet/internal/engine"

type Truck struct {
	Engine engine.Engine
	hooks  []func()
}

func With(e engine.Engine) *Truck {
	t := new(Truck)
	t.Engine = e
	t.hooks = append(t.hooks, t.Park)
	return t
}

func (t *Truck) Drive() error {
	if err := t.Engine.Start(3); err != nil {
		return err
	}
	return nil
}

func (t *Truck) Park() { t.Engine.Stop() }
