package example.consumer;

import example.GreetingService;
import org.springframework.stereotype.Component;
import tern.rpc.spring.RpcReference;

@Component
public class Visitor {

    private final GreetingService greetings;

    Visitor(@RpcReference GreetingService greetings) {
        this.greetings = greetings;
    }

    public String enter() {
        return greetings.greet("Ada");
    }
}
