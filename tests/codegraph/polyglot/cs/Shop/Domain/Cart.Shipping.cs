namespace Shop.Domain
{
    public partial class Cart
    {
        private int Shipping()
        {
            return Rates.Flat();
        }

        public bool IsHeavy() => _lines.Count > 10;
    }
}
