package tern.sample.api;

import tern.rpc.RpcMethod;

/** Answers with what it is given; for measuring a call that does nothing else. */
public interface EchoService {

    @RpcMethod(readOnly = true)
    String echo(String text);

    @RpcMethod(readOnly = true)
    Person echo(Person person);
}
