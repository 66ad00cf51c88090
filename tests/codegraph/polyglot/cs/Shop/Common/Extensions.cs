namespace Shop.Common;

public static class MoneyExtensions
{
    public static string Pretty(this Money money) => money.Rounded().ToString();

    public static T OrNew<T>(this T value) where T : class, new() => value ?? new T();
}
