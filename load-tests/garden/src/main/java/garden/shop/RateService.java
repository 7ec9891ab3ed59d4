package garden.shop;

/** A service for rates, which another application provides. */
public interface RateService {

    double rate(int id);

    double discount(int id);
}
