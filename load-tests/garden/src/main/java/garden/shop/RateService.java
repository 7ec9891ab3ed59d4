package garden.shop;

/** A service that another application provides. */
public interface RateService {

    double rate(int id);

    double discount(int id);
}
