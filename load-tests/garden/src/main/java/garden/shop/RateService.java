package garden.shop;

/** The rate service, which another application provides. */
public interface RateService {

    double rate(int id);

    double discount(int id);
}
