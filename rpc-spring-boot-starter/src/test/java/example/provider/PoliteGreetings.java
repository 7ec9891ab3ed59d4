package example.provider;

import example.GreetingService;
import tern.rpc.spring.RpcService;

@RpcService
class PoliteGreetings implements GreetingService {

    @Override
    public String greet(String name) {
        return "Good morning, " + name;
    }
}
