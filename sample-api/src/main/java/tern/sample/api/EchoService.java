package tern.sample.api;

import tern.rpc.RpcMethod;

/** Returns its argument. Load tests use it to measure a call without work. */
public interface EchoService {

    @RpcMethod(readOnly = true)
    String echo(String text);

    @RpcMethod(readOnly = true)
    Person echo(Person person);
}
