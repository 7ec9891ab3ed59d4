package org.hibernate.proxy.pojo.bytebuddy;

import java.io.Serializable;

/** Has the name of the class that Hibernate's proxies send instead of an entity that is not loaded. */
public final class SerializableProxy implements Serializable {

    private static final long serialVersionUID = 1L;

    String entityName = "Customer";
}
