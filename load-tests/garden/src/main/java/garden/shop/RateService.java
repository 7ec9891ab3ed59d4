package garden.shop;

/** A service that returns rates. Another application provides it. */
public interface RateService {

    double rate(int id);

    double discount(int id);
}
