namespace Clinic.Web.Pages;

public class Patient
{
    public string Title() => "";

    public static Patient Create() => new Patient();
}

public class PatientPage
{
    public string Header() => Patient.Create().Title();
}
