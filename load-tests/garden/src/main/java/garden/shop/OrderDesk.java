package garden.shop;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Does the work of each call to the shop application, for RPC calls as well as for web requests. */
@Component
public class OrderDesk {

    private final List<Step> steps;
    private final Stock stock;
    private final Prices prices;
    private final Carriers carriers;
    private final @Nullable Rates rates;

    OrderDesk(List<Step> steps, Stock stock, Prices prices, Carriers carriers, @Nullable Rates rates) {
        this.steps = steps;
        this.stock = stock;
        this.prices = prices;
        this.carriers = carriers;
        this.rates = rates;
    }

    String place(int id) {
        int left = stock.left(id);
        for (Step step : steps) {
            step.place(id);
        }
        stock.take(id);
        String rate = rates == null ? "" : String.valueOf(rates.of(id));
        return prices.of(id) + carriers.quote(id) + left + rate;
    }

    String view(int id) {
        for (Step step : steps) {
            step.view(id);
        }
        return prices.of(id) + stock.left(id);
    }

    String history(int id) {
        for (Step step : steps) {
            step.history(id);
        }
        return prices.of(id) + stock.left(id) + carriers.track(id);
    }

    int attach(byte[] document) {
        return document.length;
    }
}
