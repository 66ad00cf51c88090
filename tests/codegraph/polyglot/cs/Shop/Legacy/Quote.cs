namespace Legacy
{
    public class Quote
    {
        public int Amount() => 1;
    }

    public class Report
    {
        public int Print(Quote quote) => quote.Amount();
    }
}
