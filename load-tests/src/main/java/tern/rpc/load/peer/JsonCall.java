package tern.rpc.load.peer;

import com.google.gson.reflect.TypeToken;
import java.util.List;
import java.util.Objects;
import java.util.function.BiFunction;
import tern.rpc.load.peer.Peer.Services;
import tern.sample.api.Page;
import tern.sample.api.Person;
import tern.sample.api.User;

/**
 * A JSON call that sends one argument by POST and returns one result.
 *
 * @param method the server method to call
 */
record JsonCall<A, R>(String path, TypeToken<A> argument, TypeToken<R> answer, BiFunction<Services, A, R> method) {

    private static final TypeToken<String> TEXT = TypeToken.get(String.class);
    private static final TypeToken<Boolean> FLAG = TypeToken.get(Boolean.class);
    private static final TypeToken<Integer> INT = TypeToken.get(Integer.class);
    private static final TypeToken<User> USER = TypeToken.get(User.class);
    private static final TypeToken<Person> PERSON = TypeToken.get(Person.class);

    static final JsonCall<String, Boolean> EXIST_USER = new JsonCall<>(
            "/existUser", TEXT, FLAG, (services, email) -> services.users().existUser(email));
    static final JsonCall<User, Boolean> CREATE_USER = new JsonCall<>(
            "/createUser", USER, FLAG, (services, user) -> services.users().createUser(user));
    static final JsonCall<Long, User> GET_USER = new JsonCall<>(
            "/getUser",
            TypeToken.get(Long.class),
            USER,
            (services, id) -> Objects.requireNonNull(services.users().getUser(id)));
    static final JsonCall<Integer, Page<User>> LIST_USER = new JsonCall<>(
            "/listUser",
            INT,
            new TypeToken<>() {},
            (services, page) -> services.users().listUser(page));
    static final JsonCall<String, String> ECHO_TEXT = new JsonCall<>(
            "/echoText", TEXT, TEXT, (services, text) -> services.echo().echo(text));
    static final JsonCall<Person, Person> ECHO_PERSON = new JsonCall<>(
            "/echoPerson", PERSON, PERSON, (services, person) -> services.echo().echo(person));
    static final JsonCall<Integer, String> BUILD = new JsonCall<>(
            "/build", INT, TEXT, (services, times) -> services.work().build(times));

    static final List<JsonCall<?, ?>> ALL =
            List.of(EXIST_USER, CREATE_USER, GET_USER, LIST_USER, ECHO_TEXT, ECHO_PERSON, BUILD);
}
