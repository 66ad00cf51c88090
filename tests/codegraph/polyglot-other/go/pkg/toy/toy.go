package toy

type Truck struct{}

func (t Truck) Drive() {}

type Diesel struct{}

func Play() { Truck{}.Drive() }
