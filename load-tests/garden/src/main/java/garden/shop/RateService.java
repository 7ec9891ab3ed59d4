package garden.shop;

/** A service that the shop calls in another application. */
public interface RateService {

    double rate(int id);
}
