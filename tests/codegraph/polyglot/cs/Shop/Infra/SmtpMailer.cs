using Shop.Domain;

namespace Shop.Infra;

public class SmtpMailer : IMailer
{
    public void Send(string to)
    {
        Connect();
    }

    private void Connect()
    {
    }
}
