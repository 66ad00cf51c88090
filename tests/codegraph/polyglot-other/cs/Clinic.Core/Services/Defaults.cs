namespace Clinic.Core.Services;

public static class Defaults
{
    public static int Fallback() => 0;
}
