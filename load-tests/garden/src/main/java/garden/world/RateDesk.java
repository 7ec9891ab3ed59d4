package garden.world;

import garden.shop.Naps;
import garden.shop.RateService;
import tern.rpc.spring.RpcService;

/** The rate service. A fault can slow down the calls to this service or make them fail. Thread-safe. */
@RpcService
public class RateDesk implements RateService {

    private volatile int rateDelay;
    private volatile int discountDelay;
    private volatile boolean failing;

    /** Sets the response time, in milliseconds, of the method that returns rates. */
    public void rateDelay(int millis) {
        rateDelay = millis;
    }

    /** Sets the response time, in milliseconds, of the method that returns discounts. */
    public void discountDelay(int millis) {
        discountDelay = millis;
    }

    /** Sets whether every call to this service fails. */
    public void failing(boolean on) {
        failing = on;
    }

    void heal() {
        rateDelay = 0;
        discountDelay = 0;
        failing = false;
    }

    @Override
    public double rate(int id) {
        Naps.millis(rateDelay);
        if (failing) {
            throw new IllegalStateException("no rate for " + id);
        }
        return id / 7.0;
    }

    @Override
    public double discount(int id) {
        Naps.millis(discountDelay);
        return id % 10;
    }
}
