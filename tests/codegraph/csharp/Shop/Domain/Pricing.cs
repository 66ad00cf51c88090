namespace Shop.Domain.Pricing
{
    public class Pricer {
        private readonly IStore _store;
        public Pricer(IStore store) { _store = store; }
        public Money Price(Cart cart) { return new Money(cart.Total()); }
        public Colour Tint;
        [Audit] public void Go(Repository<Cart> r, Cart.Line line) { _store.Save(r.Get()); }
    }
}
