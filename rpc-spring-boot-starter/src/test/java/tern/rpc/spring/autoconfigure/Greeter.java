package tern.rpc.spring.autoconfigure;

import tern.rpc.spring.RpcService;

/** The provider that most tests use. */
@RpcService
class Greeter implements GreetingService {

    @Override
    public String greet(String name) {
        return "Hello " + name;
    }
}
