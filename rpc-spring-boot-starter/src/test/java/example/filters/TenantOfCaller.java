package example.filters;

import java.util.concurrent.CompletionStage;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import tern.rpc.ClientFilter;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.Response;

/** Sends the tenant with each call. */
@Component
@Order(2)
public class TenantOfCaller implements ClientFilter {

    @Override
    public CompletionStage<Response> invoke(Invocation call, Invoker next) {
        if (!call.metadata().contains("x-tenant")) { // CallOptions might have set another tenant for this call.
            call.metadata().put("x-tenant", "blue");
        }
        return next.invoke(call);
    }
}
