package tern.rpc.spring.autoconfigure;

import tern.rpc.spring.RpcService;

/** The usual provider of the tests. */
@RpcService
class Greeter implements GreetingService {

    @Override
    public String greet(String name) {
        return "Hello " + name;
    }
}
