package tern.sample.api;

import tern.rpc.RpcMethod;

/** A service that returns its argument. Load tests use it to measure calls that do no work. */
public interface EchoService {

    @RpcMethod(readOnly = true)
    String echo(String text);

    @RpcMethod(readOnly = true)
    Person echo(Person person);
}
