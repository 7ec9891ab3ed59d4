package example.calls;

import java.util.concurrent.CompletionStage;
import org.slf4j.MDC;
import org.springframework.stereotype.Component;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.Response;
import tern.rpc.ServerFilter;

/** Adds the user of each call to the log. Tern clears the MDC after the call. */
@Component
public class UserOfCalls implements ServerFilter {

    @Override
    public CompletionStage<Response> invoke(Invocation call, Invoker next) {
        MDC.put("user", String.valueOf(call.metadata().get("x-user")));
        return next.invoke(call);
    }
}
