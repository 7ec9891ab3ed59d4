package example.filters;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.CompletionStage;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import tern.rpc.ClientFilter;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.Response;

/** Measures calls, separately for each answering server. Its lower order makes it run outside TenantOfCaller. */
@Component
@Order(1)
public class TimesOfCalls implements ClientFilter {

    private final MeterRegistry meters;

    TimesOfCalls(MeterRegistry meters) {
        this.meters = meters;
    }

    @Override
    public CompletionStage<Response> invoke(Invocation call, Invoker next) {
        Timer.Sample started = Timer.start(meters);
        return next.invoke(call).whenComplete((response, failure) -> {
            String server = failure == null ? String.valueOf(response.metadata().get("x-served-by")) : "failed";
            started.stop(meters.timer("shop.calls", "method", call.method().name(), "server", server));
        });
    }
}
