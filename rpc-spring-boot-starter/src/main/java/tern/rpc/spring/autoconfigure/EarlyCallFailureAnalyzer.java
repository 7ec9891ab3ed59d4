package tern.rpc.spring.autoconfigure;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import tern.rpc.RpcException;

/**
 * Explains a startup that failed because a bean called the application's own server before the server was listening,
 * for example in the bean's constructor.
 */
final class EarlyCallFailureAnalyzer extends AbstractFailureAnalyzer<RpcException> {

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, RpcException cause) {
        String reason = OwnServer.withoutAdvice(String.valueOf(cause.getMessage()));
        if (reason == null) {
            return null;
        }
        String bean = innermostBean(rootFailure);
        return new FailureAnalysis(
                (bean == null ? "A call failed during startup: " : "Bean '" + bean + "' makes a call too early: ")
                        + reason + ".",
                "Make the call in an ApplicationRunner or CommandLineRunner, on ApplicationReadyEvent, or later. Or set"
                        + " rpc.client.services.<name>.url to local, which calls the server of this application in"
                        + " memory, even while it starts.",
                cause);
    }

    /**
     * Returns the name of the bean whose creation failed first. Beans that depend on this bean failed only as a
     * consequence.
     */
    private static @Nullable String innermostBean(Throwable failure) {
        String name = null;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof BeanCreationException creation && creation.getBeanName() != null) {
                name = creation.getBeanName();
            }
        }
        return name;
    }
}
