from django.contrib.auth import views as auth
from django.urls import path

from people import account, authentication, invites, login, setup, surveys, teams

urlpatterns = [
    path("login/", login.LogIn.as_view(), name="login"),
    path("login/code/", login.code, name="login-code"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("admin/login/", login.admin),
    path("setup/", setup.page, name="setup"),
    path("join/<str:token>/", invites.page, name="join"),
    path("account/", account.overview, name="account"),
    path("account/again/", login.reauthenticate, name="reauthenticate"),
    path("account/password/", account.password, name="password"),
    path("account/factor/", account.factor, name="factor"),
    path("account/tokens/", authentication.tokens, name="tokens"),
    path("account/sessions/", account.sessions, name="sessions"),
    path("account/delete/", account.delete, name="delete-account"),
    path("teams/", teams.mine, name="teams"),
    path("teams/<int:pk>/", teams.page, name="team"),
    path("surveys/<slug:slug>/people/", surveys.page, name="people"),
]
