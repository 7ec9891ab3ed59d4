package tern.rpc.netty.triple;

import com.example.wire.Person;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcMethod;
import tern.rpc.WireName;

/** The methods of the captured service that are marked as read-only and can therefore be called by GET. */
@WireName("com.example.wire.GreetService")
public interface MarkedGreetService {

    @RpcMethod(readOnly = true)
    @Nullable
    String echo(@Nullable String s);

    @RpcMethod(readOnly = true)
    Person pojo(Person p);

    @RpcMethod(readOnly = true)
    @Nullable
    String nul();
}
