package tern.rpc.spring.autoconfigure;

import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import tern.rpc.Invocation;
import tern.rpc.Invoker;
import tern.rpc.Response;
import tern.rpc.RpcException;
import tern.rpc.metrics.RpcMeter;

/** The observation of one call, on the client or on the server. */
final class ObservedCall {

    static final String CLIENT = "rpc.client.calls";
    static final String SERVER = "rpc.server.calls";
    private static final String ACTIVE = ".active"; // the suffix of the names of long task timers

    private ObservedCall() {}

    /** Returns whether the meter with the given name was created from Tern's observations. */
    static boolean isName(String meter) {
        return Set.of(CLIENT, SERVER, CLIENT + ACTIVE, SERVER + ACTIVE).contains(meter);
    }

    static CompletionStage<Response> run(Observation observation, Invocation call, Invoker next) {
        observation
                .contextualName(call.method().fullName())
                .lowCardinalityKeyValue(RpcMeter.SERVICE, call.service().toString())
                .lowCardinalityKeyValue(RpcMeter.METHOD, call.method().name())
                .start();
        CompletionStage<Response> answer;
        Observation.Scope scope = observation.openScope();
        try {
            answer = next.invoke(call);
        } catch (RuntimeException | Error e) {
            end(observation, e);
            throw e;
        } finally {
            scope.close();
        }
        return answer.whenComplete((response, failure) -> end(observation, failure));
    }

    private static void end(Observation observation, @Nullable Throwable failure) {
        Throwable cause = failure instanceof CompletionException wrapper && wrapper.getCause() != null
                ? wrapper.getCause()
                : failure;
        observation.lowCardinalityKeyValue(KeyValue.of(RpcMeter.OUTCOME, outcome(cause)));
        if (cause != null) {
            observation.error(cause);
        }
        observation.stop();
    }

    private static String outcome(@Nullable Throwable cause) {
        if (cause == null) {
            return "ok";
        }
        return cause instanceof RpcException rpc ? rpc.code().name().toLowerCase(Locale.ROOT) : "exception";
    }
}
