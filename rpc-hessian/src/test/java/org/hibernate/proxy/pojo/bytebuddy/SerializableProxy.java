package org.hibernate.proxy.pojo.bytebuddy;

import java.io.Serializable;

/** Has the name of the class with which a Hibernate proxy replaces an unloaded entity during serialization. */
public final class SerializableProxy implements Serializable {

    private static final long serialVersionUID = 1L;

    String entityName = "Customer";
}
