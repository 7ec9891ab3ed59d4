package tern.rpc.serialization.hessian;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

/** Declares next to nothing. Public and of its own file, so that another loader can load it again. */
public interface PlainService {
    void take(
            Object any,
            Map<String, Object> map,
            Serializable data,
            List<ForbiddenClassesTest.Holder> holders,
            ForbiddenClassesTest.Holder holder);
}
