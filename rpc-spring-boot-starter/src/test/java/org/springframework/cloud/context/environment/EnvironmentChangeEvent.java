package org.springframework.cloud.context.environment;

import java.util.Set;
import org.springframework.context.ApplicationEvent;

/** A substitute for Spring Cloud's event class with the same name. Tern recognizes the event by its class name. */
public class EnvironmentChangeEvent extends ApplicationEvent {

    private static final long serialVersionUID = 1;

    private final transient Set<String> keys;

    public EnvironmentChangeEvent(Object source, Set<String> keys) {
        super(source);
        this.keys = keys;
    }

    public Set<String> getKeys() {
        return keys;
    }
}
