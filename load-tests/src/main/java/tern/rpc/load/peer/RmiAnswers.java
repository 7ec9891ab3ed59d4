package tern.rpc.load.peer;

import java.util.Objects;
import tern.rpc.load.peer.Peer.Services;
import tern.sample.api.Page;
import tern.sample.api.Person;
import tern.sample.api.User;

/** The server's remote object. The class delegates each call to the services. */
record RmiAnswers(Services services) implements RmiBenchmark {

    @Override
    public boolean existUser(String email) {
        return services.users().existUser(email);
    }

    @Override
    public boolean createUser(User user) {
        return services.users().createUser(user);
    }

    @Override
    public User getUser(long id) {
        return Objects.requireNonNull(services.users().getUser(id));
    }

    @Override
    public Page<User> listUser(int pageNo) {
        return services.users().listUser(pageNo);
    }

    @Override
    public String echo(String text) {
        return services.echo().echo(text);
    }

    @Override
    public Person echo(Person person) {
        return services.echo().echo(person);
    }

    @Override
    public String build(int times) {
        return services.work().build(times);
    }
}
