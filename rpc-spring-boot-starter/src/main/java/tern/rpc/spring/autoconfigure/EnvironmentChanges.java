package tern.rpc.spring.autoconfigure;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.Environment;

/**
 * Applies changed properties to the client when Spring Cloud publishes an event about a changed environment. Recognizes
 * the event class by its name, because the starter does not depend on Spring Cloud.
 */
final class EnvironmentChanges implements ApplicationListener<ApplicationEvent> {

    static final String EVENT = "org.springframework.cloud.context.environment.EnvironmentChangeEvent";

    private final ObjectProvider<RpcReferences> references;
    private final Environment environment;

    EnvironmentChanges(ObjectProvider<RpcReferences> references, Environment environment) {
        this.references = references;
        this.environment = environment;
    }

    @Override
    public void onApplicationEvent(ApplicationEvent event) {
        if (event.getClass().getName().equals(EVENT)) {
            references.getObject().change(environment);
        }
    }
}
