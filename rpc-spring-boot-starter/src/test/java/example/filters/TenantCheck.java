package example.filters;

import java.util.concurrent.CompletionStage;
import org.springframework.stereotype.Component;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.RpcException.Executed;
import tern.rpc.ServerFilter;
import tern.rpc.StatusCode;

/** Refuses calls without a tenant, and adds the name of this server to each answer. */
@Component
public class TenantCheck implements ServerFilter {

    @Override
    public CompletionStage<Response> invoke(Invocation call, Invoker next) {
        if (call.metadata().get("x-tenant") == null) {
            throw RpcException.refusal(StatusCode.PERMISSION_DENIED, "the call names no x-tenant", Executed.NO);
        }
        return next.invoke(call).thenApply(response -> {
            response.metadata().put("x-served-by", "shop-1");
            return response;
        });
    }
}
