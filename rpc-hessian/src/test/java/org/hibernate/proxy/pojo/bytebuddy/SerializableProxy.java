package org.hibernate.proxy.pojo.bytebuddy;

import java.io.Serializable;

/** Has the name of the class whose instances replace Hibernate's proxies of unloaded entities during serialization. */
public final class SerializableProxy implements Serializable {

    private static final long serialVersionUID = 1L;

    String entityName = "Customer";
}
