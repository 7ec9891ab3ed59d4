package example.http;

import java.io.Serializable;
import tern.rpc.RpcMethod;
import tern.rpc.StreamObserver;

public interface OrderService {

    record Order(String id, String item, int count) implements Serializable {}

    @RpcMethod(readOnly = true)
    Order find(String id);

    Order place(String item, int count);

    Order place(Order order);

    void watch(String id, StreamObserver<String> states);
}
