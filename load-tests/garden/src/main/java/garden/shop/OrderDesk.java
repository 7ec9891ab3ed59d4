package garden.shop;

import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

@RpcService
class OrderDesk implements OrderService {

    private final Basket basket;
    private final Stock stock;
    private final Prices prices;
    private final Carrier carrier;

    @RpcReference
    @SuppressWarnings("NullAway.Init") // set by the starter
    private RateService rates;

    OrderDesk(Basket basket, Stock stock, Prices prices, Carrier carrier) {
        this.basket = basket;
        this.stock = stock;
        this.prices = prices;
        this.carrier = carrier;
    }

    @Override
    public String place(int id) {
        basket.check(id);
        stock.left(id);
        stock.take(id);
        stock.export(id);
        return prices.of(id) + carrier.quote(id) + rates.rate(id);
    }

    @Override
    public String view(int id) {
        return prices.of(id) + stock.left(id);
    }
}
