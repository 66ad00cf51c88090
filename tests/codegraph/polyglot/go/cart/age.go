package cart

func age(clock Clock) int {
	return clock.Now() + limit
}

const limit = 3
