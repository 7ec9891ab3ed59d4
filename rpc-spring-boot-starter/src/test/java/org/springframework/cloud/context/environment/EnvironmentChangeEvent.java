package org.springframework.cloud.context.environment;

import org.springframework.context.ApplicationEvent;

/** A substitute for Spring Cloud's event class with the same name. Tern recognizes the event by its class name. */
public class EnvironmentChangeEvent extends ApplicationEvent {

    private static final long serialVersionUID = 1;

    public EnvironmentChangeEvent(Object source) {
        super(source);
    }
}
