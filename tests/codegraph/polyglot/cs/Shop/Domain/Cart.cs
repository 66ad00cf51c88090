using Shop.Common;

namespace Shop.Domain
{
    public partial class Cart : Entity
    {
        private readonly List<Line> _lines = new List<Line>();

        public void Add(Line line)
        {
            _lines.Add(line);
            Touch();
        }

        public int Total()
        {
            var sum = 0;
            foreach (var line in _lines)
            {
                sum += line.Cost();
            }
            return sum + Shipping();
        }
    }

    public class Line
    {
        public Money Price { get; set; }

        public int Cost() => Price.Rounded();
    }
}

namespace Shop.Domain.Pricing
{
    public class Quote
    {
        private Cart _cart;

        public Quote(Cart cart)
        {
            _cart = cart;
        }

        public int Amount() => _cart.Total();

        public static Quote For(Cart cart) => new Quote(cart);
    }
}
