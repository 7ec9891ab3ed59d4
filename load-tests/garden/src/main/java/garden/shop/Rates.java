package garden.shop;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.stereotype.Component;
import tern.rpc.spring.RpcReference;

/** Queries rates from another application. */
@Component
@ConditionalOnProperty(name = "garden.entrance", havingValue = "rpc")
public class Rates {

    private final RateService rates;

    Rates(@RpcReference RateService rates) {
        this.rates = rates;
    }

    double of(int id) {
        return rates.rate(id);
    }

    public double discount(int id) {
        return rates.discount(id);
    }
}
