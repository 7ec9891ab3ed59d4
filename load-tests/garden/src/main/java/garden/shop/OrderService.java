package garden.shop;

/** The service that the load generator calls. */
public interface OrderService {

    String place(int id);

    String view(int id);

    String history(int id);

    int attach(byte[] document);
}
