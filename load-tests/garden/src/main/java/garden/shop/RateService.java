package garden.shop;

/** A service of another application. */
public interface RateService {

    double rate(int id);

    double discount(int id);
}
