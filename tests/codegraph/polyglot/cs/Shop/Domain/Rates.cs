namespace Shop.Domain;

internal static class Rates
{
    public static int Flat() => 4;
}
