package tern.rpc.spring.autoconfigure;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.util.PlaceholderResolutionException;

/** Explains a startup that failed because a bean requested the RPC server's port before the server was started. */
final class OwnPortFailureAnalyzer extends AbstractFailureAnalyzer<PlaceholderResolutionException> {

    private static final String PORT = "local.rpc.port";

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, PlaceholderResolutionException cause) {
        if (!PORT.equals(cause.getPlaceholder())) {
            return null;
        }
        BeanCreationException creation = findCause(rootFailure, BeanCreationException.class);
        String name = creation == null ? null : creation.getBeanName();
        String place = name == null ? "A bean" : "Bean '" + name + "'";
        return new FailureAnalysis(
                place + " needs the port of the RPC server (@LocalRpcPort, " + PORT + "), which is known only when all"
                        + " beans exist and the server listens.",
                "Listen to ApplicationReadyEvent, and read the property " + PORT + " of the environment there."
                        + " @LocalRpcPort is for fields of test classes.",
                cause);
    }
}
