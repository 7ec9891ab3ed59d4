package garden.shop;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import tern.rpc.spring.RpcService;

@RpcService
@ConditionalOnProperty(name = "garden.entrance", havingValue = "rpc")
class OrderEntrance implements OrderService {

    private final OrderDesk desk;

    OrderEntrance(OrderDesk desk) {
        this.desk = desk;
    }

    @Override
    public String place(int id) {
        return desk.place(id);
    }

    @Override
    public String view(int id) {
        return desk.view(id);
    }

    @Override
    public String history(int id) {
        return desk.history(id);
    }

    @Override
    public int attach(byte[] document) {
        return desk.attach(document);
    }
}
